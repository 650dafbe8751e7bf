/** Loaded before a worker (`node --import`): its clock is `CLOCK_AHEAD_MS` ahead, so that what is minutes old is hours old to it. */
const aheadMs = Number(process.env.CLOCK_AHEAD_MS ?? 0);
const OwnDate = Date;

globalThis.Date = new Proxy(OwnDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [OwnDate.now() + aheadMs] : args, newTarget),
  get: (target, name, receiver) =>
    name === 'now' ? () => OwnDate.now() + aheadMs : Reflect.get(target, name, receiver),
});
