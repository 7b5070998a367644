import { suite } from "./suite/suite.ts";

const { options, setup, iteration, teardown, handleSummary } = suite("breakpoint");

export { handleSummary, options, setup, teardown };
export default iteration;
