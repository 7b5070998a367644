import { suite } from "./lib/suite.ts";

const { options, setup, visit, handleSummary } = suite("outage");

export { handleSummary, options, setup };
export default visit;
