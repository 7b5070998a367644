import { suite } from "./suite/suite.ts";

const { options, setup, iteration, handleSummary } = suite("soak");

export { handleSummary, options, setup };
export default iteration;
