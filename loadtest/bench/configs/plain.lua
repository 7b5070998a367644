-- Requests a page or a file uncompressed.

dofile("/bench/configs/results.lua")
