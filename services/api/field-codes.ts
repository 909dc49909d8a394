/** Codes of single entries in errors[]: what is wrong with one field. */
export const FIELD_CODES = [
  'required',
  'invalid_type',
  'unknown_field',
  'invalid_enum',
  'invalid_format',
  'invalid_value',
  'out_of_range',
  'too_short',
  'too_long',
  'empty_update',
  'not_allowed',
  'repeated_field',
] as const;
export type FieldCode = (typeof FIELD_CODES)[number];
