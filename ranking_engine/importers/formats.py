"""What a format of result files is: one record in the module that reads it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ranking_engine.files.roles import ColumnChoices
from ranking_engine.importers.documents import SourceFile
from ranking_engine.importers.records import Collector, Recognised


def file_by_file(
    read_file: Callable[[Collector, SourceFile], None],
) -> Callable[[Collector, Sequence[SourceFile]], None]:
    """What reads files of a format one after the other.

    Args:
        read_file: reads one of them.
    """

    def read_files(collect: Collector, files: Sequence[SourceFile]) -> None:
        for file in files:
            collect.of(file.name, file.raw_hash)
            read_file(collect, file)

    return read_files


@dataclass(frozen=True)
class Format:
    """A format of result files.

    Attributes:
        key: as programs name it.
        name: for people.
        recognise: whether every file is of this format.
        read_files: collects the scores of files of this format; `file_by_file` makes it of what reads one file.
        takes_columns: it is for tables: `read_files` has as third argument what someone said of their columns, or None.
        old_keys: of older releases, which programs may still ask for.
        describes: whether a file says something of the others of this format, and has no scores itself.
        needed: those of its files that are read, where several say the same.
        takes_one_file: it is no format of several files.
    """

    key: str
    name: str
    recognise: Callable[[list[SourceFile]], bool]
    read_files: Callable[..., None]
    takes_columns: bool = False
    old_keys: tuple[str, ...] = ()
    describes: Callable[[SourceFile], bool] = lambda file: False
    needed: Callable[[Sequence[SourceFile]], Sequence[SourceFile]] = lambda files: files
    takes_one_file: bool = False

    def read(self, pieces: Iterable[list[SourceFile]], columns: ColumnChoices | None = None) -> Recognised:
        """The scores of the files.

        Args:
            pieces: the files, of this format, as many as are read at a time.
            columns: what someone said of the columns of tables; other formats pay no heed to it.

        Raises:
            UnclearColumnsError: it is not clear what the columns of a table are.
            InputError: something in the files cannot be read.
        """
        collect = Collector()
        for files in pieces:
            if self.takes_columns:
                self.read_files(collect, files, columns)
            else:
                self.read_files(collect, files)
        return collect.done(self.key, collect.closer_name or self.name)
