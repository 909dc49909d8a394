import type { RequestHandler } from 'express';
import { ApiError } from '../problem.ts';

const PATH_SHOWN_MAX = 200;

/**
 * The last route: nothing is at this path. Names the path that was meant where only the form is wrong: a slash at the
 * end, two slashes, capital letters. `templates`: the paths of the operations, as in openapi.yaml.
 */
export function unknownPath(templates: readonly string[]): RequestHandler {
  const known = templates.map((path) => path.split('/'));
  return (request) => {
    const { path } = request;
    const meant = path.length > PATH_SHOWN_MAX ? path : withoutSlips(path);
    const isMeant = meant !== path && known.some((parts) => fits(meant.split('/'), parts));
    throw new ApiError(
      'route_not_found',
      isMeant ? `No operation has this path: did you mean ${meant}?` : 'No operation has this path.',
    );
  };
}

function withoutSlips(path: string): string {
  return path
    .replaceAll(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '')
    .toLowerCase();
}

/** Whether a path has the parts of a template, where `{…}` stands for any. */
function fits(path: readonly string[], template: readonly string[]): boolean {
  return (
    path.length === template.length && template.every((part, at) => part.startsWith('{') || part === path[at])
  );
}
