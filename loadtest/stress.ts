import { suite } from "./suite/suite.ts";

const { options, setup, iteration, handleSummary } = suite("stress");

export { handleSummary, options, setup };
export default iteration;
