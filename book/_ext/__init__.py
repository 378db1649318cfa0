"""Extensions of Sphinx: what builds the pages from chapters and from `mdsgdln_book`."""
