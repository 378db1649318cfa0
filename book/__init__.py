"""What the book needs besides its chapters: claims, ledger, references, check of the site."""
