import { suite } from "./suite/suite.ts";

const { options, setup, iteration, teardown, handleSummary } = suite("smoke");

export { handleSummary, options, setup, teardown };
export default iteration;
