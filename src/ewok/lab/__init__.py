"""Studies: methods and seeds, trained and evaluated, into a folder of plain files, and what is made of it."""
