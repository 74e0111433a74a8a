"""Notes to answer from: a folder of text files, whose passages are retrieved while the user is still speaking
(RaLMSpec, Zhang et al. 2024). SQLite is imported only where there are any."""
