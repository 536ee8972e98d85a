"""The Census Bureau's own files: where they are (`official`), what is in their lines (`lines`), how they get here and stay
intact (`downloads`), and whether the counts that ship agree with them (`verify`). No chapter runs any of it."""
