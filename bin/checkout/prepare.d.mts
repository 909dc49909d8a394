export function prepare(root: string): Promise<void>;
