"""What a program is: types, operators, graphs, and how to build, walk, check and print them."""
