// Ends with status 1 and one line if a new container would lose a setting: deploy/host/same-settings.sh. Facts come by standard input.
import { text } from "node:stream/consumers";
import { dropped } from "./checks/settings.ts";
import { parseFacts } from "./facts.ts";

const names = dropped(parseFacts(await text(process.stdin)));
if (names.length > 0) {
  console.error(
    `culvert: ${names.join(", ")}: set for the running containers, but neither in this shell nor in .env, so that new ones would have the default: put it into .env, or give it again (to drop it: ${names[0]}= before the command)`,
  );
  process.exitCode = 1;
}
