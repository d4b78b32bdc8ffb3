"""A contract for import-linter that its own kinds cannot say: who may import views and forms."""

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class PagesContract(Contract):
    """Modules `views…` and `forms…` are imported by the addresses, and by one another within a package; by no other.

    Options:
        root: the package whose packages these are.
        address_modules: those that name views for addresses.
    """

    type_name = "pages"
    root = fields.StringField()
    address_modules = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find the imports that are not allowed."""
        wrong = [
            (importer, page)
            for page in sorted(graph.modules)
            if self._is_page(page)
            for importer in sorted(graph.find_modules_that_directly_import(page))
            if importer not in self.address_modules
            and not (self._is_page(importer) and importer.split(".")[:2] == page.split(".")[:2])
        ]
        return ContractCheck(kept=not wrong, metadata={"wrong": wrong})

    def _is_page(self, module: str) -> bool:
        parts = module.split(".")
        return parts[0] == self.root and parts[-1].startswith(("views", "forms"))

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print them."""
        for importer, page in check.metadata["wrong"]:
            output.print_error(f"{importer} imports {page}", bold=False)
