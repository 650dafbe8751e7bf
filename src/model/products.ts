/** The product codes of the interface (section 1) and the words this project uses for groups of them. Pure. */

/** Products that share the standard credit report request and response (interface 2.3 to 2.5). */
export const REPORT_PRODUCTS = ['CR', 'PREQUAL', 'PREAPP', 'PRECLOSE', 'ACCTRVW', 'REFUPD'] as const;
export type ReportProduct = (typeof REPORT_PRODUCTS)[number];

export const PULL_PRODUCTS = [...REPORT_PRODUCTS, 'FAILSAFE'] as const;

/** Every `productCode` that the interface names, with the two letters that begin its trace numbers. */
export const TRACE_LETTERS = {
  CR: 'CR',
  PREQUAL: 'PQ',
  PREAPP: 'PA',
  PRECLOSE: 'PC',
  ACCTRVW: 'AR',
  REFUPD: 'RU',
  SECONDUSE: 'SU',
  FAILSAFE: 'FS',
} as const;
export type ProductCode = keyof typeof TRACE_LETTERS;
export const PRODUCTS = Object.keys(TRACE_LETTERS) as ProductCode[];

/**
 * The stages of a lending journey, in the only order they may run in. `hasGate`: it waits at a gate before it, unless it
 * is a journey's first stage. `isCompared`: its report is compared with the report before.
 */
const STAGE_RULES = {
  PREQUAL: { hasGate: false, isCompared: false },
  PREAPP: { hasGate: true, isCompared: false },
  PRECLOSE: { hasGate: true, isCompared: true },
} as const satisfies Partial<Record<ReportProduct, { hasGate: boolean; isCompared: boolean }>>;
export type StageCode = keyof typeof STAGE_RULES;
type GatedStage = {
  [Stage in StageCode]: (typeof STAGE_RULES)[Stage]['hasGate'] extends true ? Stage : never;
}[StageCode];

export const STAGES = Object.keys(STAGE_RULES) as StageCode[];
export const GATED_STAGES = STAGES.filter(hasGate);
export const COMPARED_STAGES = STAGES.filter((stage) => STAGE_RULES[stage].isCompared);

export function isStage(value: unknown): value is StageCode {
  return (STAGES as unknown[]).includes(value);
}

/** @param stage perhaps of an input that was not checked yet */
export function hasGate(stage: StageCode): stage is GatedStage {
  return STAGE_RULES[stage]?.hasGate === true;
}

export const ENVIRONMENTS = ['sandbox', 'uat', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
