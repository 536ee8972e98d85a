"""The instructor's pack, made from the chapters: `make teach`.

    myst → labels → plain → copies → slides, bank, words → __main__

A chapter's notebook is the one source of its exercises. `copies` makes the instructor's notebook from it, and the student's
notebook from the instructor's, by punching holes. The files to the right import from those to their left.
"""
