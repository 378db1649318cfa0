"""Extensions of Sphinx: the ledger, execution, notebooks to run elsewhere, interactive figures."""
