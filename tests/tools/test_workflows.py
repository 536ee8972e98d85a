"""The way online: what GitHub runs, with which rights, and what of it comes from elsewhere."""

import re

import pytest
import yaml
from manuscript import ROOT

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in FILES}
READ = {"contents": "read"}
JOBS = [(name, job) for name, workflow in WORKFLOWS.items() for job in workflow["jobs"]]


def steps(name):
    """The steps of all jobs of a workflow."""
    return [step for job in WORKFLOWS[name]["jobs"].values() for step in job["steps"]]


def test_workflow_uses_commands_that_exist():
    """The workflow runs commands of the Makefile only, and publishes what was built and tested."""
    workflow = WORKFLOWS["book"]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    runs = [step["run"].split() for step in steps("book") if "run" in step]
    assert [target for _, target in runs] == ["site", "test", "test-bare", "test-lite"]
    assert {command for command, _ in runs} == {"make"} and {target for _, target in runs} <= targets
    assert workflow[True]["push"]["branches"] == ["main"]  # YAML reads the word `on` as true
    assert workflow["jobs"]["publish"]["needs"] == "build"


def test_pull_requests_are_tested():
    """A pull request gets the whole of `make test`."""
    assert "pull_request" in WORKFLOWS["check"][True]
    assert [step["run"] for step in steps("check") if "run" in step] == ["make test"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_actions_are_pinned_by_hash(path):
    """Whoever moves a tag cannot change what runs; the version stands beside it for people."""
    used = [step["uses"] for step in steps(path.stem) if "uses" in step]
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one) for one in used)
    text = path.read_text(encoding="utf-8")
    assert all(re.search(rf"{one} # v\d[\d.]*$", text, re.MULTILINE) for one in used)


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_rights_are_the_least(name, job):
    """A job may read. The one that publishes may do that and nothing else: it has no checkout, and runs no code of ours."""
    assert WORKFLOWS[name]["permissions"] == READ
    found = WORKFLOWS[name]["jobs"][job]
    if (name, job) == ("book", "publish"):
        assert found["permissions"] == {"pages": "write", "id-token": "write"}
        assert [step["uses"].partition("@")[0] for step in found["steps"]] == ["actions/deploy-pages"]
    else:
        assert found.get("permissions", READ) == READ


@pytest.mark.parametrize("name", WORKFLOWS)
def test_checkouts_keep_no_token(name):
    """The token that fetched the code is gone before any of it runs."""
    checkouts = [step for step in steps(name) if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts and all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_nothing_is_run_that_others_can_write(name):
    """No step puts text from outside, such as the title of a pull request, into a shell; no workflow has secrets at hand."""
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    assert "pull_request_target" not in text and "secrets." not in text
    assert {found for found in re.findall(r"\$\{\{ *(\w+)", text)} <= {"github", "matrix", "steps"}
    assert not [step for step in steps(name) if "github." in step.get("run", "")]
