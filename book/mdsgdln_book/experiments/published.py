"""Items in contexts as published (MHS App. H)."""

NUM_ITEMS = 8
HIDDEN, PATHWAY_HIDDEN = 700, 100  # neurons of the ReLU network, and of a pathway
SCALE = 0.005 / 700  # σ of all initial weights
NUM_STEPS = 8001
SUM_STEP = 0.001  # learning rate of the loss summed over samples
