import { suite } from "./suite/suite.ts";

const { options, setup, iteration, teardown, handleSummary } = suite("soak");

export { handleSummary, options, setup, teardown };
export default iteration;
