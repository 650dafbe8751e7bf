// For containers: ends with 0 where the address in the first argument answers with success, else with 1.
const address = process.argv[2] ?? '';
const answer = await fetch(address, { signal: AbortSignal.timeout(4_000) }).catch(() => null);
process.exit(answer?.ok ? 0 : 1);
