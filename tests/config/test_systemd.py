"""What systemd is told, over a real socket, and what its units say of it."""

import re
import socket

import pytest
from django.conf import settings

from config.processes.systemd import GOES_ON, READY, notify

UNITS = settings.ROOT / "deploy" / "systemd"


def values(unit: str) -> dict[str, str]:
    return dict(re.findall(r"^(\w+)=(.*)$", (UNITS / unit).read_text(), flags=re.MULTILINE))


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_each_call_is_one_datagram_of_lines(kind, tmp_path, monkeypatch):
    address = str(tmp_path / "notify") if kind == "path" else f"\0plurank-{tmp_path}"
    monkeypatch.setenv("NOTIFY_SOCKET", address.replace("\0", "@"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address)
        assert notify(READY, GOES_ON)
        assert notify(GOES_ON)
        assert [listener.recv(100), listener.recv(100)] == [b"READY=1\nWATCHDOG=1", b"WATCHDOG=1"]


def test_without_systemd_nobody_is_told(monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert not notify(READY)


def test_a_listener_that_is_gone_or_reads_nothing_fails_and_delays_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    assert not notify(READY)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / ("long" * 50)))
    assert not notify(READY)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        answers = [notify(GOES_ON) for _ in range(5000)]
    assert (answers[0], answers[-1]) == (True, False)


@pytest.mark.parametrize("unit", ["plurank-sweep.service", "plurank-rankings@.service", "plurank-studies@.service"])
def test_systemd_watches_over_the_processes_of_the_background_and_starts_them_anew(unit):
    of_unit = values(unit)
    assert (of_unit["Type"], of_unit["NotifyAccess"], of_unit["Restart"]) == ("notify", "main", "always")


def test_one_target_stops_and_starts_all_processes_and_leaves_the_backups_on():
    services = {unit.name: values(unit.name) for unit in UNITS.glob("*.service")}
    of_target = {name for name, unit in services.items() if unit.get("PartOf") == "plurank.target"}
    others = {"plurank-backup.service", "plurank-health.service", "plurank-alarm@.service"}
    assert services.keys() - of_target == others
    assert {services[name]["WantedBy"] for name in of_target} == {"plurank.target"}
    assert values("plurank.target")["WantedBy"] == "multi-user.target"
    assert "PartOf" not in values("plurank-backup.timer")
    assert values("plurank-health.timer")["PartOf"] == "plurank.target"  # no one is told of a site that is stopped
    operate = (settings.ROOT / "docs" / "operate.md").read_text()
    enabled = " ".join(re.findall(r"^systemctl enable --now (.*)$", operate, flags=re.MULTILINE)).split()
    assert {re.sub(r"@\d+", "@", name) for name in enabled if name.startswith("plurank") and "backup" not in name} == {
        "plurank.target", "plurank-health.timer", *(name.removesuffix(".service") for name in of_target)
    }  # fmt: skip
    stopped = set(re.findall(r"systemctl (?:stop|start)\s+(\S*plurank[^\s`]*)", operate))
    # A pattern such as 'plurank-*' is of timers, too.
    assert stopped - {"plurank-alarm@plurank-health.service"} == {"plurank.target"}


def test_a_sweep_that_hangs_ends_itself_before_systemd_does():
    of_unit = values("plurank-sweep.service")
    assert int(of_unit["WatchdogSec"]) > settings.SWEEP_SECONDS
    assert int(of_unit["TimeoutStartSec"]) > settings.SWEEP_SECONDS


def test_an_alarm_may_be_sent_by_a_program_that_takes_the_rights_of_its_group():
    of_unit = values("plurank-alarm@.service")
    assert of_unit["User"] == "plurank"
    # systemd.exec(5): with User=, each of these implies NoNewPrivileges=yes.
    implying = {
        "LockPersonality", "MemoryDenyWriteExecute", "NoNewPrivileges", "PrivateDevices", "ProtectClock",
        "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables",
        "RestrictAddressFamilies", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID",
        "SystemCallArchitectures", "SystemCallFilter", "SystemCallLog", "DynamicUser",
    }  # fmt: skip
    assert implying & of_unit.keys() == set()
    folders = of_unit["ReadWritePaths"].split()
    assert folders == ["-/var/spool/postfix", "-/var/spool/exim4", "-/var/log/exim4"]
