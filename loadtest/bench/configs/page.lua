-- Gets a page or a file, as wrk does by itself.

dofile("/bench/configs/report.lua")
