/**
 * Says whether a file runs its slow parts, such as the same hazards on a second engine. `npm test` leaves them out,
 * and files that end with `-slow.test.ts` too. `npm run test:all` runs them, and so does `npm test` with the file's name.
 */
export const runsSlowParts = process.env.TEST_SLOW_PARTS !== 'off';
