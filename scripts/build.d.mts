export function isBuilt(root: string): boolean;
export function build(root: string): Promise<void>;
