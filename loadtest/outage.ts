import { suite } from "./suite/suite.ts";

const { options, setup, iteration, handleSummary } = suite("outage");

export { handleSummary, options, setup };
export default iteration;
