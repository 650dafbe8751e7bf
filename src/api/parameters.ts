/** Members of paths: each name means the same thing everywhere. */
import { REVIEW_ID } from '../base/portable-patterns.ts';
import { MAX_ID_LENGTH, MAX_SHARE_ID_LENGTH, opaqueIdProblem, reviewIdProblem } from '../model/opaque-id.ts';
import { ownerIdProblem } from '../model/owner-id.ts';
import { PRODUCTS } from '../model/products.ts';

interface Parameter {
  description: string;
  /** The rule that a value breaks, or `null`. */
  problem(value: string): string | null;
  /** Its JSON Schema. */
  schema: { type: 'string'; pattern?: string; maxLength?: number; enum?: readonly string[] };
}

function id(description: string, maxLength: number): Parameter {
  return {
    description,
    problem: (value) => opaqueIdProblem(value, maxLength),
    schema: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]*$', maxLength },
  };
}

function pattern(description: string, source: string, rule: string): Parameter {
  const form = new RegExp(source);
  return {
    description,
    problem: (value) => (form.test(value) ? null : rule),
    schema: { type: 'string', pattern: source },
  };
}

export const TRACE_NUMBER = { form: '^[A-Z0-9]{28}$', rule: 'must be 28 capital letters and digits' } as const;

export const PATH_PARAMETERS = {
  journeyId: id('Your own id of the loan.', MAX_ID_LENGTH),
  pullId: id('Your own id of the pull.', MAX_ID_LENGTH),
  shareId: id('Your own id of the share.', MAX_SHARE_ID_LENGTH),
  reviewId: {
    description: 'Your own id of the portfolio review, or the one that a Temporal Schedule has given it.',
    problem: reviewIdProblem,
    schema: { type: 'string', pattern: REVIEW_ID, maxLength: MAX_ID_LENGTH },
  },
  accountId: id('Your own id of the account, a row of the review.', MAX_ID_LENGTH),
  ownerId: {
    description:
      'A run: a journeyId, pull:<pullId>, share:<shareId>, portfolio:<reviewId>, or /<accountId> behind that.',
    problem: ownerIdProblem,
    schema: {
      type: 'string',
      pattern: '^(?:(?:pull|share|portfolio):)?[A-Za-z0-9][A-Za-z0-9._~/:-]*$',
      maxLength: 150,
    },
  },
  customerTraceNumber: pattern('Names an inquiry.', TRACE_NUMBER.form, TRACE_NUMBER.rule),
  attempt: pattern('The number of an attempt, from 1.', '^[1-9][0-9]{0,5}$', 'must be a whole number from 1'),
  productCode: {
    description: 'A product of the gateway.',
    problem: (value) => (PRODUCTS.some((one) => one === value) ? null : `must be ${PRODUCTS.join(' or ')}`),
    schema: { type: 'string', enum: PRODUCTS },
  },
} as const satisfies Record<string, Parameter>;

export type PathParameter = keyof typeof PATH_PARAMETERS;

/** The names in braces; one that is no path parameter makes the type `never`, so that the route does not compile. */
export type ParametersOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends PathParameter ? Name : never) | ParametersOf<Rest>
  : never;

export function parametersIn(path: string): PathParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as PathParameter);
}
