import { readFileSync, writeFileSync } from "node:fs";
import { drawDashboard } from "./dashboard.ts";

// Draws a recorded run (deploy/test/monitoring/run.picture.ts) with the panels of a Grafana dashboard: DASHBOARD.json RUN.json PICTURE.svg
const [dashboard = "", run = "", picture = ""] = process.argv.slice(2);
const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
writeFileSync(picture, `${drawDashboard(read(dashboard).panels, read(run))}\n`);
