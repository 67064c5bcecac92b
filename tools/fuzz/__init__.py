"""Random fits and damaged model files, each of which must end in finite predictions or in an error of Weald's own."""
