/**
 * Whether a file runs its slow parts, say the same hazards on a second engine. `npm test` leaves them out, as it leaves
 * out files that end with `-slow.test.ts`; `npm run test:all` runs them, and so does `npm test` with the file's name.
 */
export const runsSlowParts = process.env.TEST_SLOW_PARTS !== 'off';
