/** Whether a variable of the environment likely holds a secret. Source: capability specification 0.8 "Environment". */
export const isSecretName = (name: string): boolean => /KEY|PASSWORD|SECRET|TOKEN/i.test(name)

/** Whether a variable, a header or an input likely holds a secret that nobody is to be shown; more than what a command may not be given. */
export const isConfidentialName = (name: string): boolean => isSecretName(name) || /PASSW|CREDENTIAL|AUTH|COOKIE/i.test(name)
