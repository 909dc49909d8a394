export function missingDependencies(
  root: string,
  options: { readonly withDev: boolean },
): readonly string[] | undefined;
