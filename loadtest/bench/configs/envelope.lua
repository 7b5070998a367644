-- Posts the envelope as the browser's SDK does. The request is built once: Lua per request would be the bottleneck.

wrk.method = "POST"
wrk.headers["Content-Type"] = "text/plain;charset=UTF-8"
wrk.body = assert(io.open("/run-data/envelope")):read("*a")
dofile("/bench/configs/results.lua")
