"""Experiments too long for a chapter, by topic; at its end a module says which tables it makes."""
