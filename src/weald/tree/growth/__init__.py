"""Which node is split next: leaf-wise, depth-wise and oblivious trees."""
