import { statfsSync } from "node:fs";
import type { Facts } from "../facts.ts";
import { failed, ok, type Result, unknown } from "../result.ts";

const DAY_MS = 86_400_000;
const MAX_IMAGE_DAYS = 30;

/** Logs, stored files and the spool grow, and so does an image that is built. */
const MIN_FREE_BYTES = 2e9;
const MIN_FREE_SHARE = 0.05;

/** Checks the disk that holds the engine's data, as a container sees it. */
export function disk(stat: { bavail: number; blocks: number; bsize: number } = statfsSync("/")): Result[] {
  const free = stat.bavail * stat.bsize;
  const found = `${(free / 1e9).toFixed(1)} GB free`;
  if (free >= MIN_FREE_BYTES && stat.bavail / stat.blocks >= MIN_FREE_SHARE) return [ok("disk", found)];
  return [
    failed(
      "disk",
      found,
      "free some: docker system df says what takes it; bound the engine's logs (log-opts max-size)",
    ),
  ];
}

/**
 * Checks the age of the images that ours are built on: they bring the system's security updates. Never a failure: the date of an
 * official image is that of its Dockerfile's last commit, so a new one may look old.
 */
export function baseImages(images: Facts["images"], now = Date.now()): Result[] {
  const check = "base images";
  if (images.length === 0) return [unknown(check, "none on this machine")];
  const days = ({ created }: Facts["images"][number]) => Math.floor((now - Date.parse(created)) / DAY_MS);
  const old = images.filter((image) => days(image) > MAX_IMAGE_DAYS);
  if (old.length === 0) return [ok(check, images.map((image) => `${image.name} ${days(image)} days old`).join(", "))];
  return old.map((image) =>
    unknown(
      check,
      `${image.name} is dated ${days(image)} days ago`,
      `docker pull ${image.name} (without a registry: REBUILD=1 sh deploy/airgap/build.sh ${image.name}), then make up`,
    ),
  );
}
