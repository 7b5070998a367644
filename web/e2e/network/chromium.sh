#!/bin/sh
# Chromium (CHROMIUM_PATH) in the network that namespace.ts opened (BROWSER_NETWORK).
exec nsenter --net="$BROWSER_NETWORK" "$CHROMIUM_PATH" "$@"
