"""How a training and its results show themselves: a progress line, short descriptions, tables of HTML."""
