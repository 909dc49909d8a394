/** A rule: the first argument is how its statements are run. */
export type Rule = (on: never, ...args: never[]) => Promise<unknown>;
export type Rules = Readonly<Record<string, Readonly<Record<string, Rule>>>>;

type Bound<R extends Rule> = R extends (on: never, ...args: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;

/** Rules as the port has them: by its parts, without the first argument. */
export type BoundRules<All extends Rules> = {
  readonly [Part in keyof All]: { readonly [Name in keyof All[Part]]: Bound<All[Part][Name]> };
};

/** Returns rules by name, such as `merchants.get`. */
export function byName(all: Rules): ReadonlyMap<string, Rule> {
  return new Map(
    Object.entries(all).flatMap(([part, rules]) =>
      Object.entries(rules).map(([name, rule]) => [`${part}.${name}`, rule] as const),
    ),
  );
}

/** Makes operations of the port. `run`: runs a rule with the arguments that follow its first. */
export function bind<All extends Rules>(
  all: All,
  run: (name: string, rule: Rule, args: readonly unknown[]) => Promise<unknown>,
): BoundRules<All> {
  const parts = Object.entries(all).map(([part, rules]) => {
    const bound = Object.entries(rules).map(([name, rule]) => [
      name,
      (...args: readonly unknown[]) => run(`${part}.${name}`, rule, args),
    ]);
    return [part, Object.fromEntries(bound)];
  });
  return Object.fromEntries(parts) as BoundRules<All>;
}
