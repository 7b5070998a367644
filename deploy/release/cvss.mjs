const WEIGHTS = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  PR: { N: 0.85, L: 0.62, H: 0.27 },
  UI: { N: 0.85, R: 0.62 },
  impact: { H: 0.56, L: 0.22, N: 0 },
};
const PRIVILEGES_OF_CHANGED_SCOPE = { N: 0.85, L: 0.68, H: 0.5 };

/** The base score, 0 to 10, of a vector of CVSS 3, such as "CVSS:3.1/AV:N/…": https://www.first.org/cvss/v3.1/specification-document */
export function baseScore(vector) {
  const of = Object.fromEntries(vector.split("/").map((metric) => metric.split(":")));
  const changed = of.S === "C";
  const lost = 1 - ["C", "I", "A"].reduce((kept, metric) => kept * (1 - WEIGHTS.impact[of[metric]]), 1);
  const impact = changed ? 7.52 * (lost - 0.029) - 3.25 * (lost - 0.02) ** 15 : 6.42 * lost;
  const privileges = (changed ? PRIVILEGES_OF_CHANGED_SCOPE : WEIGHTS.PR)[of.PR];
  const exploitability = 8.22 * WEIGHTS.AV[of.AV] * WEIGHTS.AC[of.AC] * privileges * WEIGHTS.UI[of.UI];
  if (impact <= 0) return 0;
  const score = Math.min(10, (changed ? 1.08 : 1) * (impact + exploitability));
  // Rounded up to one decimal, as the specification says (appendix A).
  const hundredThousandths = Math.round(score * 100_000);
  return Math.ceil(hundredThousandths / 10_000) / 10;
}
