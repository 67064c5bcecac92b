"""Trees on every distinct value: the exact greedy algorithm over presorted columns (Chen and Guestrin 2016, section 4.1).

A node owns a *segment* of every column's block: its present values in ascending order. A scan from left to right finds the best
split; splitting the node divides all its segments, both sides in their old order.
"""
