export function runningInstall(root: string): number | undefined;
