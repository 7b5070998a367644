-- Gets a page or a file uncompressed.

dofile("/bench/configs/report.lua")
