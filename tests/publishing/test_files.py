"""Files out: whole or not at all, over nothing that was there, and on the disk."""

import csv
import errno
import os
import shutil
import stat

import pandas as pd
import pytest
from support.refusals import refusal

from helpers.cli.sheet import Sheet
from helpers.publishing import files
from helpers.publishing.files import check_new_folder, check_target, leftovers, new_folder, save_csv, sync, write


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["plain", "old\rmac", "two\nlines", 'say "x"', "a,b", "a\r\nb"])
def test_a_saved_table_is_read_back(tmp_path, name):
    """Whatever is in a name, also in that of a column, it comes back from the file; without need there are no quotes."""
    save_csv(pd.DataFrame({"a": [name, "b"], name: ["x", "y"], "n": [1, 2]}), tmp_path / "t.csv")
    with open(tmp_path / "t.csv", newline="") as file:
        assert [*csv.reader(file)] == [["a", name, "n"], [name, "x", "1"], ["b", "y", "2"]]
    assert ('"' in (tmp_path / "t.csv").read_text()) == (name != "plain")


def test_a_saved_table_has_its_columns_and_no_others(tmp_path):
    """A carriage return in a column's name alone is enough for quotes."""
    save_csv(pd.DataFrame({"a": ["x", "y"], "n": [1, 2]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a,n\nx,1\ny,2\n"
    save_csv(pd.DataFrame({"old\rmac": ["x"], "n": [1]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b'"old\rmac","n"\n"x",1\n'


@pytest.mark.parametrize("path", [None, 7, b"data.csv", ["data.csv"]], ids=str)
def test_what_is_no_path_is_refused(path):
    """A path is text or a Path."""
    for call in (Sheet.read, lambda path: check_target(path, force=True)):
        with pytest.raises(TypeError, match="path must be a path, as text or a Path, got "):
            call(path)


def test_a_target_is_checked(tmp_path):
    """A file that is there is not touched without force; folders and missing folders are refused."""
    file = tmp_path / "out.csv"
    assert check_target(file, force=False) == file.resolve()
    file.write_text("old")
    with pytest.raises(FileExistsError, match=r"out\.csv is there already; nothing was written"):
        check_target(file, force=False)
    assert check_target(file, force=True) == file.resolve()
    for path in (tmp_path, tmp_path / "no" / "out.csv", os.devnull):
        with pytest.raises(ValueError, match="folder"):
            check_target(path, force=True)
    words = f"{tmp_path} must be the name of a file to write, but is a folder or a device"
    assert refusal(check_target, tmp_path, force=True, by=ValueError) == words


def test_a_new_folder_is_checked(tmp_path, monkeypatch):
    """A name that anything has is refused, and nothing overwrites it; the place is kept if one then moves on."""
    assert check_new_folder(str(tmp_path / "out")) == tmp_path.resolve() / "out"
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    for name in ("file", "folder", "link"):
        words = f"{tmp_path / name} is there already, and a release is never overwritten; nothing was written"
        assert refusal(check_new_folder, tmp_path / name, by=FileExistsError) == words
    monkeypatch.chdir(tmp_path)
    assert check_new_folder("out") == tmp_path.resolve() / "out"
    assert refusal(check_new_folder, None, by=TypeError) == "folder must be a path, as text or a Path, got None"
    assert refusal(check_new_folder, "o\0ut", by=ValueError).startswith("folder must be a path, which has no null character")


NOWHERE = {
    "a link that leads nowhere": ("lost", "{} must be the name of something to write, but is a link that leads nowhere"),
    "a folder that is not there": ("no/out", "{} cannot be written: there is no folder {parent}"),
    "below a file": ("file/out", "{} cannot be written: there is no folder {parent}"),
    "the folder above": ("..", "{} must be the name of something to write, but is a folder"),
}


@pytest.mark.parametrize("name, words", NOWHERE.values(), ids=NOWHERE)
def test_places_that_lead_nowhere_are_refused(name, words, tmp_path):
    """For a file and for a folder alike, before any work is done."""
    (tmp_path / "lost").symlink_to(tmp_path / "gone")
    (tmp_path / "file").write_text("old")
    path = tmp_path / name
    for check in (check_new_folder, lambda path: check_target(path, force=True)):
        assert refusal(check, path, by=ValueError) == words.format(path, parent=path.parent)


def test_a_disk_that_cannot_be_asked_is_no_place(tmp_path, monkeypatch):
    """What the system says about a name, such as that it is too long, is passed on in a sentence."""

    def fail(path):
        raise OSError(errno.ENAMETOOLONG, "File name too long")

    monkeypatch.setattr(type(tmp_path), "is_symlink", fail)
    words = f"{tmp_path / 'out'} cannot be written: File name too long"
    assert refusal(check_new_folder, tmp_path / "out", by=ValueError) == words
    assert refusal(check_target, tmp_path / "out", force=True, by=ValueError) == words


@pytest.mark.parametrize("letter", ["n", "é", "🜁"])
def test_names_may_be_as_long_as_the_disk_allows(tmp_path, letter):
    """The hidden name that a file or folder has meanwhile is no longer than its own may be: 255 bytes."""
    name = letter * (255 // len(letter.encode()))
    write(check_target(tmp_path / name, force=False), lambda new: new.write_text("new"), force=False)
    assert (tmp_path / name).read_text() == "new"
    (tmp_path / name).unlink()
    with new_folder(check_new_folder(tmp_path / name)) as fresh:
        (fresh / "x").write_text("new")
    assert names(tmp_path) == [name] and names(tmp_path / name) == ["x"]


def test_a_link_is_written_through(tmp_path):
    """Writing to a link replaces the file that it leads to."""
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write(check_target(tmp_path / "link.csv", force=True), lambda new: new.write_text("new"), force=True)
    assert (tmp_path / "real.csv").read_text() == "new" and (tmp_path / "link.csv").is_symlink()


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["disk", "Ctrl-C"])
def test_a_failing_write_leaves_the_old_file(tmp_path, error):
    """If writing fails half way, the old file is as it was and nothing is left beside it."""
    file = tmp_path / "out.csv"
    file.write_text("old")

    def fail(new):
        new.write_text("ha")
        raise error

    with pytest.raises(type(error)):
        write(file, fail, force=True)
    assert file.read_text() == "old" and [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_file_takes_its_place_when_it_is_on_the_disk(tmp_path, monkeypatch):
    """Filled under a hidden name with the same ending, put on the disk, and renamed; then the renaming is put there too."""
    (tmp_path / "out.png").write_text("old")
    done, real = [], files.sync
    monkeypatch.setattr(files, "sync", lambda path: (done.append((path, (tmp_path / "out.png").read_text())), real(path)))
    write(tmp_path / "out.png", lambda new: (done.append((new, "save")), new.write_text("new")), force=True)
    new = done[0][0]
    assert done == [(new, "save"), (new, "old"), (tmp_path, "new")]
    assert new.parent == tmp_path and new.name.startswith(".") and new.name.endswith("-out.png")


def test_hidden_names_cannot_be_guessed(tmp_path, monkeypatch):
    """They differ each time; and what has such a name all the same is not written to, be it a file or a link."""
    seen = []
    for _ in range(3):
        write(tmp_path / "out", lambda new: seen.append(new.name), force=True)
        with new_folder(tmp_path / "folder") as fresh:
            seen.append(fresh.name)
        (tmp_path / "folder").rmdir()
    assert len({*seen}) == 6 and all(len(name) > 20 for name in seen)
    (tmp_path / "theirs").write_text("theirs")
    monkeypatch.setattr(files.secrets, "token_hex", lambda n: "known")
    (tmp_path / ".unfinished-known-out").symlink_to(tmp_path / "theirs")
    with pytest.raises(FileExistsError):
        write(tmp_path / "out", lambda new: new.write_text("ours"), force=True)
    assert (tmp_path / "theirs").read_text() == "theirs"


@pytest.mark.parametrize("mode", [0o640, 0o444, 0o600])
def test_a_file_that_is_replaced_passes_its_permissions_on(tmp_path, mode):
    """Also if it is read-only; and meanwhile nobody else can read the new one. A new file is as readable as any."""
    file, seen = tmp_path / "out.csv", []
    file.write_text("old")
    file.chmod(mode)
    write(file, lambda new: (seen.append(stat.S_IMODE(new.stat().st_mode)), new.write_text("new")), force=True)
    assert file.read_text() == "new" and stat.S_IMODE(file.stat().st_mode) == mode and seen == [0o600]
    (tmp_path / "any").write_text("any")
    write(tmp_path / "new", lambda new: new.write_text("new"), force=False)
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "any").stat().st_mode


@pytest.mark.parametrize("there", [False, True], ids=["a new name", "a name that is taken"])
def test_a_disk_without_links_takes_files_too(tmp_path, monkeypatch, there):
    """The name is taken first, which only one can, so that nobody's file is overwritten there either."""

    def fail(*_):
        raise OSError(errno.EPERM, "no links here")

    def save(new):
        new.write_text("ours")
        if there:
            (tmp_path / "t.csv").write_text("theirs")

    monkeypatch.setattr(os, "link", fail)
    if there:
        words = f"{tmp_path / 't.csv'} is there already; nothing was written"
        assert refusal(write, tmp_path / "t.csv", save, force=False, by=FileExistsError) == words
    else:
        write(tmp_path / "t.csv", save, force=False)
    assert (tmp_path / "t.csv").read_text() == ("theirs" if there else "ours") and names(tmp_path) == ["t.csv"]


def test_somebody_else_may_clear_the_hidden_name_away(tmp_path, monkeypatch):
    """Once the file has its place, as whoever adds to a new account does."""
    link = os.link

    def cleared(new, path):
        link(new, path)
        os.unlink(new)

    monkeypatch.setattr(os, "link", cleared)
    write(tmp_path / "out", lambda new: new.write_text("ours"), force=False)
    assert names(tmp_path) == ["out"] and (tmp_path / "out").read_text() == "ours"


def test_without_force_a_new_file_is_not_overwritten(tmp_path):
    """Also if it appeared after the first look."""

    def save(new):
        new.write_text("ours")
        (tmp_path / "t.csv").write_text("theirs")

    with pytest.raises(FileExistsError, match="is there already; nothing was written"):
        write(tmp_path / "t.csv", save, force=False)
    assert (tmp_path / "t.csv").read_text() == "theirs" and [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    write(tmp_path / "t.csv", save, force=True)
    assert (tmp_path / "t.csv").read_text() == "ours"


def test_a_table_is_plain_text_whatever_its_name_ends_in(tmp_path):
    """What the name of a file looks like does not compress it: it would not be read back."""
    save_csv(pd.DataFrame({"a": ["x"], "n": [1]}), tmp_path / "t.csv.gz")
    assert (tmp_path / "t.csv.gz").read_bytes() == b"a,n\nx,1\n"


# ---- folders ----


def fill(path):
    """Make a folder with two files in it."""
    with new_folder(path) as fresh:
        for name in ("a", "b"):
            (fresh / name).write_text(f"new {name}")


def test_a_new_folder_appears_whole(tmp_path):
    """While it is filled it is hidden beside its place; then it is there, with all that is in it, and nothing else is."""
    with new_folder(tmp_path / "out") as fresh:
        (fresh / "a").write_text("new a")
        assert fresh.parent == tmp_path and fresh.name.startswith(".unfinished-")
        assert names(tmp_path) == [fresh.name] and leftovers(tmp_path / "out") == [fresh]
    assert names(tmp_path) == ["out"] and (tmp_path / "out" / "a").read_text() == "new a"


def test_a_folder_takes_its_place_when_its_files_are_on_the_disk(tmp_path, monkeypatch):
    """Each file, then the folder, then the renaming: a power cut never leaves the name without what is in it."""
    done, real = [], files.sync
    monkeypatch.setattr(files, "sync", lambda path: (done.append((path.name, (tmp_path / "out").exists())), real(path)))
    fill(tmp_path / "out")
    hidden = done[2][0]
    assert sorted(done[:2]) == [("a", False), ("b", False)] and hidden.startswith(".unfinished-")
    assert done[2:] == [(hidden, False), (tmp_path.name, True)]


@pytest.mark.parametrize(
    "error", [OSError("disk full"), KeyboardInterrupt(), ZeroDivisionError()], ids=["disk", "Ctrl-C", "bug"]
)
def test_a_folder_that_cannot_be_filled_is_not_there(tmp_path, error):
    """Whatever stops the filling, it is said, and nothing is left, however much was written."""

    def fail():
        with new_folder(tmp_path / "out") as fresh:
            (fresh / "a").write_text("new a")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path, monkeypatch):
    """Before anything is done in it."""
    (tmp_path / "file").write_text("old")
    with pytest.raises(NotADirectoryError), new_folder(tmp_path / "file" / "out"):
        pytest.fail("it was filled")


def taken(tmp_path, kind):
    """Somebody else's thing where the folder should go."""
    if kind == "a folder":
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "theirs").write_text("theirs")
    elif kind == "a link":
        (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    else:
        (tmp_path / "out").write_text("theirs")


@pytest.mark.parametrize("kind", ["a folder", "a file", "a link"])
def test_what_is_there_by_then_stays(tmp_path, kind):
    """Whoever has taken the name since it was looked at keeps it, and the new folder is refused."""

    def late():
        with new_folder(tmp_path / "out") as fresh:
            (fresh / "a").write_text("new a")
            taken(tmp_path, kind)

    words = f"{tmp_path / 'out'} is there by now, and a release is never overwritten; nothing was written"
    assert refusal(late, by=FileExistsError) == words and names(tmp_path) == ["out"]
    if kind == "a link":
        assert (tmp_path / "out").is_symlink()
    else:
        theirs = tmp_path / "out" / "theirs" if kind == "a folder" else tmp_path / "out"
        assert theirs.read_text() == "theirs"


def test_other_errors_of_renaming_are_passed_on(tmp_path, monkeypatch):
    """A disk that fails is no name that is taken; and nothing is left."""

    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "rename", fail)
    assert refusal(fill, tmp_path / "out", by=OSError) == "[Errno 5] Input/output error" and names(tmp_path) == []


def test_a_folder_that_was_taken_away_meanwhile_is_an_error(tmp_path):
    """Whoever removes the hidden folder, for a leftover say, does not make an unwritten release look written."""

    def robbed(also):
        with new_folder(tmp_path / "out") as fresh:
            (fresh / "a").write_text("new a")
            shutil.rmtree(fresh)
            if also:
                (tmp_path / "out").mkdir()  # somebody else's

    for also in (False, True):
        with pytest.raises(FileNotFoundError):
            robbed(also)
        assert names(tmp_path) == ["out"] * also


def test_what_comes_after_the_renaming_undoes_nothing(tmp_path, monkeypatch):
    """Ctrl-C, or an error of the disk, just after the folder has taken its place: it is there, and no error is told."""
    rename, real = os.rename, files.sync

    def interrupted(*paths):
        rename(*paths)
        raise SystemExit  # as good as Ctrl-C, which would end the tests

    def failing(path):
        if path == tmp_path:
            raise OSError(errno.EIO, "Input/output error")
        real(path)

    monkeypatch.setattr(os, "rename", interrupted)
    fill(tmp_path / "one")
    monkeypatch.undo()
    monkeypatch.setattr(files, "sync", failing)
    fill(tmp_path / "two")
    assert names(tmp_path) == ["one", "two"] and all(names(tmp_path / name) == ["a", "b"] for name in ("one", "two"))


def test_leftovers_are_found(tmp_path):
    """Hidden files and folders beside a place, of whatever name, in order; and nothing else."""
    for name in (".unfinished-34-b", "c.unfinished-56", ".d", "out", "out/.unfinished-78-e"):
        (tmp_path / name).mkdir()
    (tmp_path / ".unfinished-12-a.csv").write_text("")
    assert [path.name for path in leftovers(tmp_path / "out")] == [".unfinished-12-a.csv", ".unfinished-34-b"]
    seen = []
    write(tmp_path / "b", lambda new: seen.extend({*leftovers(tmp_path / "b")} & {new}), force=False)
    assert len(seen) == 1  # what is there if it is killed now


# ---- the disk ----


@pytest.mark.parametrize("what", ["a file", "a folder"])
def test_putting_on_the_disk_asks_the_system(tmp_path, monkeypatch, what):
    """For files and folders alike, and they are closed again; a disk that cannot is no error, one that fails is."""
    path = tmp_path / "file" if what == "a file" else tmp_path
    (tmp_path / "file").write_text("new")
    asked = []

    def fsync(handle, error=None):
        asked.append((handle, os.fstat(handle).st_ino))
        if error:
            raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "fsync", fsync)
    sync(path)
    for error in (errno.EINVAL, errno.ENOTSUP, errno.EIO):
        monkeypatch.setattr(os, "fsync", lambda handle, error=error: fsync(handle, error))
        if error == errno.EIO:
            assert "Input/output error" in refusal(sync, path, by=OSError)
        else:
            sync(path)
    assert [inode for _, inode in asked] == [path.stat().st_ino] * 4
    for handle, _ in asked:
        with pytest.raises(OSError):
            os.fstat(handle)


def test_windows_puts_no_folders_on_the_disk(tmp_path, monkeypatch):
    """It cannot open them, and needs not."""
    opened = []
    with monkeypatch.context() as windows:  # nothing is asserted within: pytest itself needs to know where it is
        windows.setattr(os, "open", lambda *_: opened.append(1) or -1)
        windows.setattr(os, "fsync", lambda _: None)
        windows.setattr(os, "close", lambda _: None)
        windows.setattr(os, "name", "nt")
        sync(tmp_path)
    assert not opened
