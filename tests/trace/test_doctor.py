"""What the doctor finds, from surveys of machines; the machine in the tests of the virtual one is real."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zmysql.platforms.tracer import Kind, Survey, Tracer
from zmysql.trace.doctor import State, of_io_uring, of_survey, of_zfs

WELL = Survey(
    host="db1",
    system="Linux",
    root=True,
    confined=None,
    zfs_loaded=True,
    btf=True,
    dtrace=Tracer(Kind.DTRACE, "/usr/sbin/dtrace", "2.0.7"),
    bpftrace=Tracer(Kind.BPFTRACE, "bpftrace", "0.23.2"),
    history=True,
    toolkit=None,
)


def states(found: Survey) -> dict[str, State]:
    return {one.name: one.state for one in of_survey(found)}


def test_a_machine_that_has_all_is_well() -> None:
    assert set(states(WELL).values()) == {State.OK}
    assert [tracer.kind for tracer in WELL.tracers()] == ["dtrace", "bpftrace", "history"]


@pytest.mark.parametrize(
    ("found", "name", "tracers"),
    [
        (replace(WELL, root=False), "root", []),
        (replace(WELL, confined="a container"), "place", []),
        (replace(WELL, zfs_loaded=False), "zfs", []),
        (replace(WELL, btf=False), "types", ["history"]),
        (replace(WELL, btf=False, history=False), "types", []),
    ],
    ids=["root", "container", "zfs", "types", "nothing"],
)
def test_what_is_missing_is_named_with_the_way_out(found: Survey, name: str, tracers: list[str]) -> None:
    assert [tracer.kind for tracer in found.tracers()] == tracers
    (finding,) = (one for one in of_survey(found) if one.state is State.MISSING)
    assert finding.name == name
    assert finding.todo


def test_one_tracer_is_enough() -> None:
    found = replace(WELL, dtrace=None)
    assert states(found)["dtrace"] is State.WARNING
    assert found.tracers()[0].kind is Kind.BPFTRACE
    assert states(replace(found, bpftrace=None))["dtrace"] is State.MISSING


@pytest.mark.parametrize(
    ("system", "proof"), [("FreeBSD", "blkaccess.freebsd.d"), ("SunOS", "blkaccess.illumos.d"), ("Darwin", "Linux")]
)
def test_where_the_scripts_never_ran_they_are_unproven(system: str, proof: str) -> None:
    found = replace(WELL, system=system, bpftrace=None)
    assert found.tracers() == ()
    first = next(of_survey(found))
    assert first.state is State.UNPROVEN
    assert proof in first.todo


def test_the_toolkit_is_found_and_never_needed() -> None:
    said = {one.name: one for one in of_survey(replace(WELL, toolkit="/opt/DTT"))}
    assert said["DTraceToolkit"].says.startswith("/opt/DTT")


def test_another_zfs_is_unproven() -> None:
    assert of_zfs("2.3.9-1").state is State.OK
    assert of_zfs("2.4.1-1").state is State.UNPROVEN
    assert of_zfs(None).state is State.UNPROVEN


@pytest.mark.parametrize(
    ("release", "state"),
    [
        ("6.12.107+deb13-cloud-amd64\n", State.OK),
        ("5.12.0", State.OK),
        ("5.10.0-30-amd64", State.WARNING),
        ("?", State.WARNING),
    ],
)
def test_io_uring_s_workers_are_the_server_s_threads_from_linux_5_12_on(release: str, state: State) -> None:
    assert of_io_uring(release).state is state
