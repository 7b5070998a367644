import { suite } from "./lib/suite.ts";

const { options, setup, visit, handleSummary } = suite("average");

export { handleSummary, options, setup };
export default visit;
