"""Every figure of the book, in one `style`: `plots` shows one thing, `panels` several pictures side by side."""
