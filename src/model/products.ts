/** The product codes of the interface (section 1) and the words this project uses for groups of them. Pure. */

/** Products that share the standard credit report request and response (interface 2.3 to 2.5). */
export const REPORT_PRODUCTS = ['CR', 'PREQUAL', 'PREAPP', 'PRECLOSE', 'ACCTRVW', 'REFUPD'] as const;
export type ReportProduct = (typeof REPORT_PRODUCTS)[number];

/** Products of single pulls. */
export const PULL_PRODUCTS = [...REPORT_PRODUCTS, 'FAILSAFE'] as const;

/** Every `productCode` that the interface names. */
export const PRODUCTS = [...REPORT_PRODUCTS, 'SECONDUSE', 'FAILSAFE'] as const;
export type ProductCode = (typeof PRODUCTS)[number];

/** The stages of a lending journey, in the only order they may run in. */
export const STAGES = ['PREQUAL', 'PREAPP', 'PRECLOSE'] as const;
export type StageCode = (typeof STAGES)[number];

export const ENVIRONMENTS = ['sandbox', 'uat', 'production'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
