-- Gets a page or a file as a browser asks for it: compressed.

wrk.headers["Accept-Encoding"] = "gzip, deflate, br, zstd"
dofile("/bench/configs/report.lua")
