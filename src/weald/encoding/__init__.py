"""Categories -> numbers by the labels of the rows that share them: target statistics and counters."""
