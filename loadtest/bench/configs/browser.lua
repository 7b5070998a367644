-- Requests a page or a file as a browser does: compressed.

wrk.headers["Accept-Encoding"] = "gzip, deflate, br, zstd"
dofile("/bench/configs/results.lua")
